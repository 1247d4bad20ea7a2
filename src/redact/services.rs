//! Names of services that give out API keys: a random value under such a name is one, even if it looks like a hash.

/// Whether a name, its words joined, begins with the name of such a service. Answers how many bytes of it that takes.
pub fn service(joined: &str) -> Option<usize> {
    let all = SERVICES.split_ascii_whitespace();
    all.filter(|it| joined.starts_with(it)).map(str::len).max()
}

/// Public APIs and developer services. Names that are also ordinary words of data (`apple`, `box`, `front`, `wave`) are left
/// out unless nothing else is called so in a request.
const SERVICES: &str = "\
abbysale abstractapi abuseipdb abyssale accuweather activecampaign adafruit adobeio adzuna aeroworkflow agora aha \
aikido airbrake airnow airship airtable aiven alchemy alegra aletheia algolia alibaba alienvault aliyun allsports \
alphavantage amadeus amazonaws ambee amplitude anthropic anypoint apacta apideck apiflash apify apilayer apimatic \
apimetrics apininjas apitemplate apitorch apollo appcues appdynamics appetize appfollow appointedd appoptics appsflyer \
appsmith appsynergy apptivo apptus aqicn artifactory artsy asana assemblyai atera atlassian audd auddio autodesk \
autoklose autopilot avaza aviationstack awin axonaut ayrshare azure bannerbear baremetrics basecamp basistheory beamer \
beebole bestbuy besttime betterstack billomat bingmaps bitbar bitbucket bitcoinaverage bitfinex bitly bitmex bitrise \
blablabus blackduck blazemeter blitapp blockfrost blocknative blogger blynk bombbomb boostnote borgbase braintree \
brandfetch braze brevo brightdata broadcom browserless browserstack browshot bscscan buddyns budibase bugherd bugsnag \
buildkite bulbul bulksms bunnycdn buttercms buzzsprout caflou calendarific calendly calorieninja campayn cannyio canva \
capsulecrm captaindata carboninterface cashboard caspio censys centralstation cerebras cexio chaingateway chainstack \
chargify chartmogul chatbot chatfuel checio checklyhq checkvist cicero circleci clarifai claude clearbit clerk \
clickhelp clicksend clickup clientary clinchpad clockify closecrm cloudconvert cloudelements cloudflare cloudimage \
cloudinary cloudmersive cloudplan cloudsmith cloudways cloze clustdoc coda codacy codeclimate codecov codemagic \
codequiry coderwall cohere coinapi coinbase coincap coingecko coinlayer coinlib coinmarketcap column commercejs \
companyhub configcat confluent contentful contentstack conversiontools convertapi convertkit convier copyleaks coqui \
couchbase countrylayer covalent coveralls craftmypdf crossbrowsertesting crowdin crowdstrike cryptocompare \
currencycloud currencyfreaks currencylayer currencyscoop currentsapi customerguru customerio d7network dailyco \
dandelion dareboost databento databox databricks datadog datagov debounce deepai deepgram deepl deepseek delighted \
demio denodeploy detectify detectlanguage devcycle dfuse diffbot diggernaut digicert digitalocean discogs discord \
discourse disqus ditto dnscheck dnsimple docker dockerhub docparser documo docusign doppler dotdigital dotmailer \
dovico dreamstudio dronahq droneci dropbox duffel duply dwolla dynadot dynalist dynatrace dyspatch eagleeyenetworks \
easyinsight easypost ecostruxure edamam edenai eightxeight elasticemail elasticsearch elevenlabs enablex endorlabs \
enrichcrm eodhd eraser etherscan etsy eventbrite everhour exchangerate exchangerates exportsdk extractorapi facebook \
faceplusplus factset fastforex fastly fastspring fathom faunadb faveo fetchrss fibery figma fileio filestack finage \
financialmodelingprep findl finerworks finicity finnhub firebase firecrawl fireworksai fixerio flatio flexport flickr \
flightapi flightlabs flightstats flowflu flutterwave flyio fmfw formbucket formcraft formio formsite foursquare \
frameio freshbooks freshdesk freshsales freshservice friendlycaptcha fulcrum fullcontact fullstory funtranslations \
fxmarket gcp geckoboard gemini gengo geoapify geocode geocodify geocodio geoipifi getaddress getblock getemail \
getemails getgeoapi getgist getresponse getsandbox ghost giphy gitee github gitlab gitter glassnode gnews gocanvas \
gocardless godaddy goldapi goodday googleapi googlemaps gotenberg grafana graphcms graphhopper greptile groovehq groq \
grubhub gtmetrix guardianapi gumroad gyazo happi happyscribe harness hashicorp haveibeenpwned heatmapapi helicone \
hellosign helpcrunch helpscout hereapi heroku hiveage holidayapi honeybadger honeycomb hotjar html2pdf htmlcsstoimage \
hubspot huggingface humanity hunter hunterio hyperbrowser hypertrack iconfinder iexapis iexcloud imagekit imagga imgix \
imgur infobip infracost infura insightly instabot instamojo integromat intercom interseller intra42 intrinio \
invoiceocean ip2location ipapi ipdata ipgeolocation ipify ipinfo ipinfodb ipquality ipregistry ipstack iterable jamf \
jasper jdbc jenkins jfrog jigsawstack jira jotform jumpcloud jupiterone juro kaggle kakao kanbantool karmacrm keenio \
kibana kickbox kinde klaviyo klipfolio knapsackpro kommo kontent korbit kucoin kylas landbot langchain langfuse \
langsmith languagelayer lastfm launchdarkly leadfeeder lemlist lemonsqueezy lendflow lessannoyingcrm lexigram \
lexoffice linear linenotify linkedin linkpreview liveagent livestorm loadmill lob locationiq logdna loggly loginradius \
logrocket logz lokalise loyverse lunchmoney luno macaddress madkudu magento magicbell mailboxlayer mailchimp \
mailerlite mailersend mailgun mailjet mailjetsms mailmodo mailsac mailtrap mandrill mapbox mapquest maptiler \
marketstack mattermost mavenlink maxmind meaningcloud measurementprotocol mediastack meistertask memberstack meraki \
mesibo messagebird metaapi metabase metrilo mindmeister miro mistral mixmax mixpanel monday mongodb monkeylearn \
moonclerk moosend moralis morningstar mrticktock myfreshworks myintervals nasdaq nasdaqdatalink neo4j neutrino \
newrelic newsapi newscatcher newsdata nexmo nftport ngrok nicereply nimble noticeable notion novita nozbe npmjs nuget \
nugetapi numverify nutritionix nvapi nylas nytimes oanda octopus okta omnisend onedesk onelogin onepagecrm onesignal \
onwater oopspam openai openaq opencage openexchangerates opengraphr openrouter openuv openvpn openweather \
openweathermap opsgenie optidash optimizely oracle overloop owlbot packagecloud paddle pagarme pagerduty pagespeed \
pandadoc pandascore paperform paralleldots parsehub parseur partnerstack passbase pastebin paymo paymongo paypal \
paystack pdflayer pdfshift peopledatalabs pepipost perplexity phraseaccess pinata pinecone pingdom pipedream pipedrive \
pivotaltracker pixabay plaid planetscale planview planyo plivo pollsapi poloniex polygon portainer positionstack \
postageapp postbacks posthog postman postmark powerbi powrbot prefect prodpad prospectcrm prospectio protocolsio \
proxycrawl publit pubnub pulumi purestake pushbullet pusher pushover pyowm pypi qase qualaroo qualtrics quandl qubole \
quickbase quickbooks quicknode rapidapi raven rawg razorpay reachmail readme reallysimplesystems rebrandly recruitee \
reddit redhat redis refiner removebg rentman repairshopr replicate replyio requestfinance resend restpack \
restpackhtmltopdf restpackscreenshot retellai retool revampcrm ringcentral riteapi ritekit robinhood rocketreach \
rockset rollbar roninapp rootly route4me rownd rubygems runpod runrunit salesblink salescookie salesflare salesforce \
salesloft salesmate sanity satismeter saucelabs scaleway schemafree scraperapi scraperbox scrapersite scrapestack \
scrapfly scrapingant scrapingbee screenshotapi screenshotlayer searchapi securitytrails selectpdf semantria semaphore \
sendbird sendbirdorganization sendgrid sendinblue sentry serpapi serper serphouse serpstack sheety sherpadesk shipday \
shipengine shippo shodan shopify shortcut shotstack shutterstock signable signalwire signaturit signupgenius signwell \
sigopt simfin simplesat simplybook simplynoted simvoly sinchmessage sirv siteleaf skrapp skybiometry skyscanner slack \
smartsheet smartystreets smooch snipcart snowflake snyk snykkey socrata softr sonarcloud sonarqube sourcegraph \
sparkpost speechmatics speechtextai splunk splunkobservability spoonacular sportmonks sportradar sportsmonk spotify \
square squareapp squarespace squareup squidex sslmate stability stackhawk stackoverflow statsig statuscake statuspage \
statuspal stitchdata stockdata storecove stormboard stormglass storyblok storychief strava stripe stripo stytch \
sugester sumologic supabase supernotes superplanning surveyanyplace surveybot surveymonkey surveysparrow survicate \
svix swiftype tableau tailscale talkdesk tallyfy tatumio tavily taxjar teamgate teamviewer teamwork teamworkcrm \
teamworkdesk teamworkspaces technicalanalysis tefter telegram teletype telnyx tencent terraform testiny textmagic \
textrazor theoddsapi thingsboard thinkific thousandeyes threatconnect ticketmaster tickettailor tiingo timecamp \
timezoneapi tineswebhook tly tmetric todoist togetherai toggltrack tokeet tomorrowio tomtom tradier transferwise \
travelpayouts travisci trello trilium truenas trufflehog tunnelblick twelvedata twilio twist twitch twitter tyntec \
typeform typetalk ubidots uclassify unifyid unplugg unsplash upcdatabase updown uplead uploadcare uploadthing upstash \
uptimerobot uptrace upwave urlscan userflow userstack vatlayer vault veevavault veracode vercel veriphone versioneye \
viewneo vimeo virustotal visualcrossing visualstudio voicegain voicify voodoosms vouchery vpnapi vultr vyte wakatime \
walkscore wandb wassenger weatherapi weatherbit weatherstack web3storage webex webflow webscraper webscraping wepay \
whatconverts whoxy wistia wiz woocommerce wordpress wordsapi workato workos worksnaps workstack worldcoinindex \
worldweather wrike xai xata yandex yelp ynab youneedabudget yousign youtube zapier zapierwebhook zendesk zenkitapi \
zenrows zenscrape zenserp zeplin zerobounce zerossl zerotier zipapi zipbooks zipcodeapi zipcodebase zoho zohocrm \
zonkafeedback zulip zulipchat";

#[cfg(test)]
mod tests {
    use super::service;

    #[test]
    fn the_longest_name_counts() {
        assert_eq!(service("githubtoken"), Some(6));
        assert_eq!(service("openweathermapkey"), Some(14));
        assert_eq!(service("title"), None);
    }
}
